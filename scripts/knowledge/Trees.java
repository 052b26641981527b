import java.util.ArrayDeque;
import java.util.TreeMap;

/** Builds and walks trees, most of them short-lived, beside an ordered map and a queue that live on. */
public class Trees {
	private record Node(Node left, Node right, int key) {
		static Node of(int depth, int key) {
			return depth == 0 ? new Node(null, null, key) : new Node(of(depth - 1, 2 * key), of(depth - 1, 2 * key + 1), key);
		}

		int sum() {
			return left == null ? key : key + left.sum() - right.sum();
		}
	}

	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[0]);
		Node old = Node.of(16, 1);
		TreeMap<Integer, Node> map = new TreeMap<>();
		ArrayDeque<int[]> queue = new ArrayDeque<>();
		long sum = 0;
		for (int round = 0; round < rounds; round++) {
			for (int i = 0; i < 64; i++) {
				sum += Node.of(9, i).sum();
			}
			for (int i = 0; i < 500; i++) {
				int key = (round * 500 + i) * 7919 % 20000;
				map.put(key, Node.of(2, key));
				queue.add(new int[64]);
			}
			while (queue.size() > 20000) {
				sum += queue.remove().length;
			}
			sum += map.firstKey();
		}
		System.out.println(sum + old.sum());
	}
}
